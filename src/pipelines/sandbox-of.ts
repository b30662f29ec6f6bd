import type { Context } from '../context.ts'
import { createSandbox, type Sandbox } from './sandbox.ts'

const sandboxes = new WeakMap<Context, Sandbox>()

/** The sandbox of this server. It starts no process before it is given something to run. */
export function sandboxFor(ctx: Context): Sandbox {
  const sandbox = sandboxes.get(ctx) ?? createSandbox()
  sandboxes.set(ctx, sandbox)
  return sandbox
}
