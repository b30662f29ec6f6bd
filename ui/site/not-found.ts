import { linkButton } from '../components/button.ts'
import type { Html } from '../components/html.ts'
import { errorPage } from '../frame/error.ts'

/** 404 for a path. The page is the same for private and missing files. `isStart`: the path is `/` itself. */
export const notFoundPage = ({ isStart }: { isStart: boolean }): Html =>
  errorPage({
    status: 404,
    isNowhere: isStart,
    title: 'Page not found',
    message: 'There is nothing at this address.',
    hint: 'Check the spelling, or go back to where you came from.',
  })

/** 404 for an unknown host or a hidden site. People with an account can sign in from here. */
export const noSitePage = ({ host, signInUrl }: { host: string; signInUrl: string }): Html =>
  errorPage({
    status: 404,
    isNowhere: true,
    title: 'No site lives here',
    message: `This server has no site at ${host}.`,
    way: linkButton({ label: 'Is it a private site? Sign in', href: signInUrl }),
    hint: 'Check the address. If you were invited to a site here, sign in with the email that was invited, or ask whoever sent you the link.',
  })

/** 400 for a request whose `Host` field is no host, or that has two. */
export const badHostPage = (): Html =>
  errorPage({
    status: 400,
    isNowhere: true,
    title: 'This request names no host',
    message: 'A request must have one Host header, with the name or address of a host and at most a port.',
    hint: 'If a proxy stands in front of this server, check the Host header that it sends.',
  })

/** 421 for a mapped domain that is not verified yet. */
export const unprovenDomainPage = (host: string): Html =>
  errorPage({
    status: 421,
    isNowhere: true,
    title: 'This domain is not verified yet',
    message: `${host} points at this server, but nobody has verified that it belongs to a site here.`,
    hint: 'If it is yours, open the domain in the admin, add the record shown there and press Verify.',
  })
