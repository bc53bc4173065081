/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output folders of commands: see outfolder.h. cmd-export.c calls this file for data sets;
 * outfile.c writes each file.
 */
#include "tools/tsctl/trace/outfolder.h"

#include "proto/abi/base.h"
#include "tools/tsctl/tsctl.h"

#include <sys/stat.h>

/* A trace with absurd times would fill the disk with folders. */
#define MAX_FILES (1u << 20)

static int make_folder(const char *path)
{
	struct stat present;

	if (!mkdir(path, 0777))
		return TS_EXIT_OK;
	if (errno == EEXIST && !stat(path, &present)) {
		if (S_ISDIR(present.st_mode))
			return TS_EXIT_OK;
		errno = ENOTDIR;
	}
	ts_complain("cannot create folder %s: %s", path, strerror(errno));
	return TS_EXIT_BAD;
}

int ts_outfolder_open(struct ts_outfolder *folder, const char *root)
{
	*folder = (struct ts_outfolder){.root = root};
	if (!*root || !strcmp(root, "-")) {
		ts_complain("-o %s: name a folder", *root ? root : "''");
		return TS_EXIT_BAD;
	}
	return make_folder(root);
}

int ts_outfolder_begin(struct ts_outfolder *folder, const char *path, FILE **ret_file)
{
	if (folder->n_files++ == MAX_FILES) {
		ts_complain("%s: more than %u files; --slice with a longer time makes fewer",
			    folder->root, MAX_FILES);
		return TS_EXIT_BAD;
	}
	free(folder->path);
	if (asprintf(&folder->path, "%s/%s", folder->root, path) < 0) {
		folder->path = NULL;
		ts_complain("cannot write %s: %s", folder->root, strerror(ENOMEM));
		return TS_EXIT_BAD;
	}
	for (char *at = strchr(folder->path + strlen(folder->root) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		int r;

		*at = '\0';
		r = make_folder(folder->path);
		*at = '/';
		if (r)
			return r;
	}
	if (ts_outfile_open(&folder->file, folder->path))
		return TS_EXIT_BAD;
	*ret_file = folder->file.file;
	return TS_EXIT_OK;
}

int ts_outfolder_finish(struct ts_outfolder *folder)
{
	int r = ts_outfile_finish(&folder->file);

	ts_outfile_deinit(&folder->file);
	folder->file = (struct ts_outfile){0};
	return r;
}

void ts_outfolder_deinit(struct ts_outfolder *folder)
{
	ts_outfile_deinit(&folder->file);
	free(folder->path);
}
