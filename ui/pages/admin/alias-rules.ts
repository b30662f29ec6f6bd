import { card } from '../../components/card.ts'
import { type Html, html } from '../../html.ts'
import { rulesHref, setHref } from './rule-words.ts'

export type AliasRulesProps = {
  alias: { projectId: string; name: string }
  /** The sets that it names, in the order in which they are tried. */
  ruleSets: readonly { id: string; name: string }[]
}

/** What answers on this alias before its files do; it is changed where all rules are. */
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
        <a href=${rulesHref(alias.projectId, `?alias=${encodeURIComponent(alias.name)}`)}>What is tried for ${alias.name}</a>
      </p>
    `,
  )
