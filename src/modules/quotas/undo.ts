import type { DifferingFields } from '../../domain/differing-fields.ts'
import { refuseChanged, undoKind } from '../undo/kind.ts'
import type { Quota } from './model.ts'
import { putLimits, quotaOf } from './service.ts'

export const quotaChange = undoKind<DifferingFields>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { before, after }) {
    refuseChanged(quotaOf(ctx, targetId), after)
    putLimits(ctx, tx, grant, targetId, before as Partial<Quota>)
  },
})
