import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import type { ButtonKind } from '../components/button.ts'
import { confirmDialog } from '../components/confirm.ts'
import { field, hidden } from '../components/field.ts'
import type { Html } from '../components/html.ts'
import { deploymentHref } from './deployment-table.ts'

/** What production would do with a deployment: go back to what it showed before, or on to something else. */
export type Promotion = { isBack: boolean }

/** The button and dialog that point an alias at a deployment. Sends `intent=promote` with `alias` to the deployment's page. */
export function promoteDialog(
  { projectId, number }: Pick<DeploymentView, 'projectId' | 'number'>,
  { isBack }: Promotion,
  openerKind?: ButtonKind,
): Html {
  const verb = isBack ? 'Roll back' : 'Promote'
  return confirmDialog(
    {
      id: `promote-${number}`,
      opener: isBack ? `Roll back to #${number}` : `Promote #${number}`,
      ...(openerKind === undefined ? {} : { openerKind }),
      title: isBack ? `Roll back to #${number}?` : `Promote #${number}?`,
      text: 'Visitors of the alias see this deployment at once. Nothing is copied.',
      confirm: verb,
      confirmKind: 'primary',
      action: deploymentHref(projectId, number),
    },
    [
      hidden('intent', 'promote'),
      field({
        name: 'alias',
        id: `promote-${number}-alias`,
        label: 'Alias',
        value: 'production',
        verbatim: true,
      }),
    ],
  )
}
