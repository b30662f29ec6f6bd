import { isDeepStrictEqual } from 'node:util'
import type { ReleaseChecks } from '../../domain/release-checks.ts'
import { changedSince, undoKind } from '../undo/kind.ts'
import { getReleaseChecks, putReleaseChecks } from './service.ts'

/** Set or deleted: all of them are one value. */
export const releaseChecks = undoKind<{ before: ReleaseChecks; after: ReleaseChecks }>({
  needs: 'settings:manage',
  undo({ ctx, tx, grant }, { before, after }) {
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(getReleaseChecks(ctx, grant))), after))
      throw changedSince('what is checked before a release')
    putReleaseChecks(ctx, tx, grant, before)
  },
})
