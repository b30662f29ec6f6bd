import { type Html, html } from '../../html.ts'
import { errorPage } from '../error.ts'

/** 404 for a path. Private and missing read the same. */
export const notFoundPage = (): Html =>
  errorPage({
    status: 404,
    isNowhere: true,
    title: 'Page not found',
    message: 'There is nothing at this address.',
    hint: 'Check the spelling, or go back to where you came from.',
  })

/** 404 for a host that maps to nothing, and for a site that is hidden: whoever has an account finds in from here. */
export const noSitePage = ({ host, signInUrl }: { host: string; signInUrl: string }): Html =>
  errorPage({
    status: 404,
    isNowhere: true,
    title: 'No site lives here',
    message: `This server has no site at ${host}.`,
    hint: 'If it should be yours, map the domain to a project in the admin, or check the alias, repository and owner in the name.',
    way: html`Invited to a private site? <a href=${signInUrl}>Sign in</a>`,
  })

/** 421 for a mapped domain whose owner has not proved it yet. */
export const unprovenDomainPage = (host: string): Html =>
  errorPage({
    status: 421,
    isNowhere: true,
    title: 'This domain is not verified yet',
    message: `${host} points at this server, but nobody has proved that it belongs to a site here.`,
    hint: 'If it is yours, open the domain in the admin, add the record that is shown there and press Verify.',
  })
