import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Appliance } from './journey.ts'

const BUN = process.env['SVC_BUN'] ?? 'bun'
const SCRIPT = `
  const [path, id, status] = process.argv.slice(-3)
  const { Database } = await import('bun:sqlite')
  const db = new Database(path)
  db.run('PRAGMA busy_timeout = 5000')
  const { changes } = status === 'none'
    ? db.run('DELETE FROM deployment_reports WHERE deployment_id = ?', [id])
    : db.run('UPDATE deployment_reports SET status = ? WHERE deployment_id = ?', [status, id])
  if (changes !== 1) throw new Error('no such report')
`

/** Puts a report that is made into a state that passes too soon to be seen, or that no test brings about. */
export function setReportState(
  { dataDir }: Appliance,
  deploymentId: string,
  state: 'running' | 'failed' | 'complete' | 'none',
): void {
  const args = ['-e', SCRIPT, join(dataDir, 'svc.db'), deploymentId, state]
  const { status, stderr } = spawnSync(BUN, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the report is not ${state}: ${stderr}`)
}
