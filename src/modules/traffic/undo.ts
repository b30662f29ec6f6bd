import { isDeepStrictEqual } from 'node:util'
import { changedSince, undoKind } from '../undo/kind.ts'
import type { TrafficView } from './model.ts'
import { deleteTraffic, findSplit, setTraffic } from './service.ts'

/** Set or deleted; null is no split. */
export const trafficChange = undoKind<{ before: TrafficView | null; after: TrafficView | null }>({
  needs: 'traffic:configure',
  undo({ ctx, grant, targetId }, { before, after }) {
    if (!isDeepStrictEqual(findSplit(ctx, grant, targetId) ?? null, after))
      throw changedSince('the traffic split')
    if (before === null) deleteTraffic(ctx, grant, targetId)
    else setTraffic(ctx, grant, targetId, before)
  },
})
