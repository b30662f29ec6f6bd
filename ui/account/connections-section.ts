import type { LoginProvider } from '../auth/sign-in.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { table } from '../components/table.ts'
import { day } from '../components/time.ts'

export type Connection = { provider: string; email: string; connectedAt: string }

export function connectionsSection(
  connections: readonly Connection[],
  providers: readonly LoginProvider[],
): Html {
  const connected = new Set(connections.map((connection) => connection.provider))
  const offered = providers.filter((provider) => !connected.has(provider.id))
  return card(
    {
      id: 'connections',
      title: 'Connected sign-in methods',
      about: 'Other ways to sign in to this account.',
    },
    html`
      ${connections.length > 0 && connectionTable(connections, providers)}
      ${
        connections.length + offered.length === 0 &&
        html`<p class="muted">This server offers no others. Its operator can add Google, Keycloak and the like.</p>`
      }
      ${
        offered.length > 0 &&
        html`<div class="actions">${offered.map((provider) =>
          linkButton({
            label: `Connect ${provider.displayName}`,
            href: `/api/auth/oidc/${encodeURIComponent(provider.id)}/start?redirect=%2Faccount`,
            kind: 'secondary',
            small: true,
          }),
        )}</div>`
      }
    `,
  )
}

function connectionTable(connections: readonly Connection[], providers: readonly LoginProvider[]): Html {
  const nameOf = (id: string) => providers.find((provider) => provider.id === id)?.displayName ?? id
  return table<Connection>({
    caption: 'Connected sign-in methods',
    rows: connections,
    columns: [
      { label: 'Method', cell: (row) => nameOf(row.provider) },
      { label: 'As', cell: (row) => row.email },
      { label: 'Since', cell: (row) => day(row.connectedAt) },
      {
        label: 'Actions',
        hideLabel: true,
        align: 'end',
        cell: (row) => html`
          <form method="post">
            ${hidden('intent', 'connection-remove')} ${hidden('provider', row.provider)}
            ${button({
              label: 'Remove',
              kind: 'secondary',
              small: true,
              accessibleName: `Remove ${nameOf(row.provider)}`,
            })}
          </form>
        `,
      },
    ],
  })
}
