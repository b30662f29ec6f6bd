/** What asked for a run of a pipeline: a visitor, a schedule, or a tool call. contract 14.6. */
export const RUN_TRIGGERS = ['request', 'schedule', 'mcp'] as const
export type RunTrigger = (typeof RUN_TRIGGERS)[number]
