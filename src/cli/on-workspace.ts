import type { Config } from '../config/config.ts'
import { messageOf } from '../domain/errors.ts'
import { askServer } from '../platform/control-socket.ts'
import { isCopy } from '../platform/copy-of-store.ts'
import { type OperationInput, type OperationName, operate } from '../server/operations.ts'
import { CommandFailure, type Io } from './command.ts'
import { enterOwn, onDataDir } from './operator.ts'

/**
 * Does it on the data directory, or, where the workspace is in an object store, by the server that runs there: what another
 * process writes is lost with the machine. Returns the text to print. contract 18 §1.
 */
export async function onWorkspace(
  config: Config,
  io: Io,
  name: OperationName,
  input: OperationInput,
): Promise<string> {
  if (!isOfStore(config)) return onDataDir(config, io, (ctx) => operate(ctx, name, input))
  enterOwn(config)
  const answer = await answerOf(config, { name, input })
  if (answer === undefined)
    throw new CommandFailure(
      `the workspace is in an object store, and no server runs on ${config.dataDir}: start svc serve there, or run this on the machine that is primary; nothing was changed`,
    )
  if (!answer.isDone) throw new CommandFailure(answer.text)
  return answer.text
}

async function answerOf(
  { dataDir }: Config,
  asked: { name: OperationName; input: OperationInput },
): Promise<{ isDone: boolean; text: string } | undefined> {
  try {
    const answer = await askServer(dataDir, asked)
    return answer && { isDone: answer.ok, text: await answer.text() }
  } catch (error) {
    throw new CommandFailure(
      `the server on ${dataDir} ended before it answered (${messageOf(error)}): it may have been done all the same, so look before you do it again`,
    )
  }
}

/** The settings may be the server's alone. */
export const isOfStore = ({ storeUrl, dataDir }: Config): boolean => storeUrl !== null || isCopy(dataDir)
