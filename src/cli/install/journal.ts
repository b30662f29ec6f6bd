import { UNIT } from './paths.ts'
import type { Run } from './programs.ts'

/** The newest lines of the service's log; none where there is no log. */
export async function lastLines(run: Run, count: number): Promise<string[]> {
  return newest(run, count, [`--unit=${UNIT}`])
}

/** The link by which the first admin is made, of the start that is running; undefined if its log does not have it. */
export async function setUpLink(run: Run): Promise<string | undefined> {
  const id = (await run('systemctl', 'show', '--property=InvocationID', '--value', UNIT))?.text.trim() ?? ''
  const which = /^[0-9a-f]{32}$/.test(id) ? `_SYSTEMD_INVOCATION_ID=${id}` : `--unit=${UNIT}`
  const lines = await newest(run, SEARCHED_LINES, [which])
  return lines.flatMap((line) => LINK.exec(line)?.[0] ?? []).at(-1)
}

const SEARCHED_LINES = 1000
const LINK = /https?:\/\/\S+\/setup\?token=\S+/

/** Where the journal is not kept, systemd still shows what it has. */
async function newest(run: Run, count: number, which: readonly string[]): Promise<string[]> {
  const asked = [`--lines=${count}`, '--no-pager']
  const journal = await run('journalctl', ...which, ...asked, '--output=cat', '--quiet')
  const text =
    journal?.text.trim() || (await run('systemctl', 'status', UNIT, '--full', ...asked))?.text.trim()
  return text ? text.split('\n').slice(-count) : []
}
