import type { DifferingFields } from '../../domain/differing-fields.ts'
import { refuseChanged, undoKind } from '../undo/kind.ts'
import type { SettingsPatch } from './model.ts'
import { changeSettings, getSettings } from './service.ts'

export const settingsChange = undoKind<DifferingFields>({
  needs: 'workspace:administer',
  undo({ ctx, grant }, { before, after }) {
    const now = Object.entries(getSettings(ctx, grant)).map(([key, { value }]) => [key, value])
    refuseChanged(Object.fromEntries(now), after)
    changeSettings(ctx, grant, before as SettingsPatch)
  },
})
