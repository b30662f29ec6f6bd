import type { DifferingFields } from '../../domain/differing-fields.ts'
import { refuseChanged, undoKind } from '../undo/kind.ts'
import type { ProjectChange } from './model.ts'
import { changeProject, projectOf } from './service.ts'

export const projectChange = undoKind<DifferingFields>({
  needs: 'settings:manage',
  undo({ ctx, tx, grant }, { before, after }) {
    refuseChanged(projectOf(ctx, grant, tx), after)
    changeProject(ctx, grant, before as ProjectChange)
  },
})
