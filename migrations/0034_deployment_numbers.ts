import type { Database } from 'bun:sqlite'
import { titleOf } from '../src/domain/deployment-name.ts'

/** Completes migration 0034: the titles of deployments that have a description. */
export function fillTitles(sqlite: Database): void {
  const update = sqlite.query('UPDATE deployments SET title = ? WHERE id = ?')
  const described = sqlite.query<{ id: string; description: string }, []>(
    'SELECT id, description FROM deployments WHERE description IS NOT NULL',
  )
  for (const { id, description } of described.all()) {
    const title = titleOf(description)
    if (title !== null) update.run(title, id)
  }
}
