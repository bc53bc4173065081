// SPDX-License-Identifier: Apache-2.0
// The types of those functions of d3-hierarchy and d3-shape that the page uses. Debian has no package of their types.

declare module 'd3-hierarchy' {
	export interface HierarchyNode<T> {
		readonly data: T;
		readonly depth: number;
		readonly children?: this[];
		readonly value?: number; // set by sum()
		sum(value: (data: T) => number): this;
		sort(compare: (a: this, b: this) => number): this;
		ancestors(): this[]; // itself first
		descendants(): this[];
	}

	export interface HierarchyRectangularNode<T> extends HierarchyNode<T> {
		x0: number;
		x1: number;
	}

	export interface Stratify<T> {
		id(get: (data: T, i: number) => string): this;
		parentId(get: (data: T, i: number) => string | undefined): this;
		(data: ReadonlyArray<T>): HierarchyNode<T>;
	}

	export function stratify<T>(): Stratify<T>;
	export function partition<T>(): (root: HierarchyNode<T>) => HierarchyRectangularNode<T>;
}

declare module 'd3-shape' {
	export type Curve = { readonly __curve: unique symbol };

	export interface Area<T> {
		x(get: (data: T) => number): this;
		y0(y: number): this;
		y1(get: (data: T) => number): this;
		curve(curve: Curve): this;
		context(context: CanvasRenderingContext2D): this;
		(data: ReadonlyArray<T>): void;
	}

	export const curveStepAfter: Curve;
	export function area<T>(): Area<T>;
}
