import type { Context } from '../../context.ts'
import type { ReportView } from './model.ts'

/** The report of a deployment that the caller may see; null for one that was published before there were reports. */
export const reportOf = (_ctx: Context, _deploymentId: string): ReportView | null => null
