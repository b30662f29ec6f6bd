import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { createSandbox } from '../sandbox.ts'

/** The sandbox of this server. It starts no process before the first job. */
export const sandboxFor = onePer((_: Context) => createSandbox())
