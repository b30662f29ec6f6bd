import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** What a server does when there is something to send. Nothing elsewhere: a command only writes the outbox. */
const sender = onePer((_: Context): { wake: () => void } => ({ wake: () => {} }))

/** Calls `wake` whenever deliveries were written, until the returned function is called. */
export function onNewDeliveries(ctx: Context, wake: () => void): () => void {
  sender(ctx).wake = wake
  return () => {
    sender(ctx).wake = () => {}
  }
}

/** For use inside a transaction, which is over in the next turn. */
export const wakeAfterCommit = (ctx: Context): void => void setTimeout(() => sender(ctx).wake(), 0)
