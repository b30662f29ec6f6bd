import { waysBack } from '../../src/domain/alias-line.ts'
import type { NamedMove } from '../../src/modules/aliases/service.ts'
import { confirmDialog } from '../components/confirm.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { moveName } from './move-name.ts'

type RollBackProps = {
  /** The alias. */
  id: string
  /** Of its page. */
  href: string
  /** Of the button, and of the dialog that it opens: "Roll back production". */
  name: string
  /** Newest first. */
  history: readonly NamedMove[]
}

/** Of the dialog: an address with it as the fragment opens it. */
export const rollBackDialogId = (aliasId: string): string => `roll-back-${aliasId}`

/** Two clicks back along the line of an alias; nothing where there is no way back. contract 17.9. */
export function rollBackDialog({ id, href, name, history }: RollBackProps): Html | false {
  const { rollBackTo } = waysBack(history)
  if (rollBackTo === undefined) return false
  return confirmDialog(
    {
      id: rollBackDialogId(id),
      opener: name,
      openerKind: 'secondary',
      title: name,
      text: html`Visitors see ${moveName(rollBackTo)} again as soon as you confirm. It can be undone.`,
      action: `${href}/move`,
      confirm: `Roll back to ${moveName(rollBackTo)}`,
    },
    html`${hidden('intent', 'rollback')} ${hidden('deploymentId', rollBackTo.deploymentId)}`,
  )
}
