import type { AuditEntry } from '../../src/modules/undo/service.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'

/** A button that undoes a change and leads back. */
export const undoForm = (
  { id }: Pick<AuditEntry, 'id'>,
  { back, accessibleName }: { back: string; accessibleName?: string },
): Html => html`
  <form method="post" action=${`/undo/${id}`}>
    ${hidden('back', back)}
    <button type="submit" class="btn btn-secondary btn-small nowrap" aria-label=${accessibleName}>Undo</button>
  </form>
`
