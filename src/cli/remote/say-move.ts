import { type Io, printable, printableJson } from '../command.ts'
import { nameAt, type Row, textAt } from './project.ts'

type Point = { deploymentId: string; number: unknown; commitSha: string; version: unknown }

/** What a record of an alias says of where it points. */
export const pointOf = (alias: Row): Point => ({
  deploymentId: textAt(alias, 'deploymentId'),
  number: alias['number'],
  commitSha: textAt(alias, 'commitSha'),
  version: alias['version'],
})

/** `from` is null for an alias that was made. */
export function writeMove(
  io: Io,
  isJson: boolean,
  move: { alias: Row; from: Point | null; to: Point },
): void {
  const { alias, from, to } = move
  if (isJson) {
    io.stdout.write(`${printableJson(move, 2)}\n`)
    return
  }
  const was =
    from === null ? '' : from.deploymentId === to.deploymentId ? ', as before' : `, was ${nameAt(from)}`
  const said = `${textAt(alias, 'name')} shows ${nameAt(to)}${was}: ${textAt(alias, 'url')}`
  io.stdout.write(`${printable(said)}\n`)
}
