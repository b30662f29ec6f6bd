/** How a filter compares a field of a record with a value. */
export const FILTER_OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'like', 'in'] as const
export type FilterOp = (typeof FILTER_OPS)[number]

/** What can be computed from many records. */
export const OPERATIONS = ['count', 'sum', 'avg', 'min', 'max'] as const
export type Operation = (typeof OPERATIONS)[number]
