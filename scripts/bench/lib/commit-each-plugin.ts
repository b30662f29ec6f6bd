import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plugin } from 'bun'

/** Preloaded into a server that runs from its sources: every record gets a commit of its own, all else is the same. */
plugin({
  name: 'commit each',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]db[\\/]group-commit\.ts$/ }, () => ({
      contents: readFileSync(join(import.meta.dir, 'commit-each-module.ts'), 'utf8'),
      loader: 'ts',
    }))
  },
})
