import type { Database } from 'bun:sqlite'
import { connectAgain, type DatabaseFile } from '../database-file.ts'

/** A read transaction. It is ended when each of its owners released it. */
export type Hold = { share(): Hold; release(): void }

/**
 * Read transactions that keep the log of a database as it is: it does not begin again while there is one, and nothing that was
 * committed after one began is copied into the file, by whichever process.
 */
export class Holds {
  readonly #file: DatabaseFile
  readonly #spare: Database[] = []

  constructor(file: DatabaseFile) {
    this.#file = file
  }

  begin(): Hold {
    const connection = this.#spare.pop() ?? connectAgain(this.#file, { readonly: true })
    connection.run('BEGIN')
    // The transaction begins with the first read.
    connection.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    let owners = 1
    const hold: Hold = {
      share() {
        owners += 1
        return hold
      },
      release: () => {
        owners -= 1
        if (owners > 0) return
        connection.run('COMMIT')
        this.#spare.push(connection)
      },
    }
    return hold
  }

  /** Those that are not released stay. */
  close(): void {
    for (const connection of this.#spare.splice(0)) connection.close()
  }
}

/** For a database that ships nothing yet. */
export const holdLog = (file: DatabaseFile): Hold => new Holds(file).begin()
