import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import type { Fired, RunEnd } from './claims.ts'

type Duty = {
  /** Whether this server fires schedules now. Set by whoever starts it; a machine that follows never does. */
  isOn: boolean
  /** Runs the rule. Set by whoever starts the server: lower layers do not import the site engine. Never rejects. */
  perform(fired: Fired): Promise<Pick<RunEnd, 'status' | 'error'>>
}

export const scheduleDuty = onePer(
  (_: Context): Duty => ({
    isOn: false,
    perform: () => Promise.resolve({ status: 'failed', error: 'The server was not ready' }),
  }),
)
