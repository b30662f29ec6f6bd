import { type Io, printable, printableJson } from '../command.ts'
import { type Row, textAt, versionAt } from './project.ts'

type Point = { deploymentId: string; commitSha: string; version: unknown }

/** What a record of an alias says of where it points. */
export const pointOf = (alias: Row): Point => ({
  deploymentId: textAt(alias, 'deploymentId'),
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
    from === null ? '' : from.deploymentId === to.deploymentId ? ', as before' : `, was ${versionAt(from)}`
  const said = `${textAt(alias, 'name')} shows ${versionAt(to)}${was}: ${textAt(alias, 'url')}`
  io.stdout.write(`${printable(said)}\n`)
}
