import type { DifferingFields } from '../../domain/differing-fields.ts'
import { refuseChanged, undoKind } from '../undo/kind.ts'
import type { PolicyChange } from './model.ts'
import { changeRetention, getRetention } from './service.ts'

export const retentionChange = undoKind<DifferingFields>({
  needs: 'retention:manage',
  undo({ ctx, grant }, { before, after }) {
    refuseChanged(getRetention(ctx, grant), after)
    changeRetention(ctx, grant, before as PolicyChange)
  },
})
