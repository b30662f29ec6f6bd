import type { Database } from 'bun:sqlite'
import { clashLabel, hostLabel, versionRef } from '../src/domain/hostname.ts'

type Version = { id: string; commitSha: string; version: number; repo: string; owner: string }

/** Completes migration 0022: what was published so far gets the host of its version. contract 16 §1. */
export function addVersionHosts(sqlite: Database): void {
  const taken = new Set(labelsIn(sqlite, 'SELECT label FROM host_labels'))
  for (const host of labelsIn(sqlite, 'SELECT hostname AS label FROM domains'))
    taken.add(host.split('.', 1)[0] ?? '')
  const insert = sqlite.query('INSERT INTO host_labels (label, deployment_id) VALUES (?, ?)')
  for (const { id, commitSha, version, repo, owner } of listVersions(sqlite)) {
    let label = hostLabel({ ref: versionRef(commitSha, version), repo, owner })
    while (taken.has(label)) label = clashLabel(label)
    taken.add(label)
    insert.run(label, id)
  }
}

const labelsIn = (sqlite: Database, sql: string): string[] =>
  sqlite
    .query<{ label: string }, []>(sql)
    .all()
    .map(({ label }) => label)

/** The others are of projects that are being deleted. */
const listVersions = (sqlite: Database): Version[] =>
  sqlite
    .query<Version, []>(
      `SELECT d.id, d.commit_sha AS commitSha, d.version, p.name AS repo, p.owner
       FROM deployments d JOIN projects p ON p.id = d.project_id ORDER BY d.created_at, d.id`,
    )
    .all()
