import { card } from '../components/card.ts'
import { type Html, html } from '../components/html.ts'
import { rulesHref, setHref } from '../rules/rule-words.ts'

export type AliasRulesProps = {
  alias: { projectId: string; name: string }
  /** The sets attached to the alias, in the order they are tried. */
  ruleSets: readonly { id: string; name: string }[]
}

/** The rules that answer on this alias before its files do. They are edited on the Rules page. */
export const aliasRules = ({ alias, ruleSets }: AliasRulesProps): Html =>
  card(
    {
      id: 'alias-rules',
      title: 'Rules',
      about: 'Its own rules and rule sets are tried before those of the project.',
    },
    html`
      ${
        ruleSets.length > 0 &&
        html`
          <p class="facts">
            Rule sets, in order:
            ${ruleSets.map(({ id, name }) => html`<a href=${setHref(alias.projectId, id)}>${name}</a>`)}
          </p>
        `
      }
      <p>
        <a href=${rulesHref(alias.projectId, `?alias=${encodeURIComponent(alias.name)}`)}>All rules tried for ${alias.name}</a>
      </p>
    `,
  )
