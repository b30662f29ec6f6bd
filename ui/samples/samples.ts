// Test support: all samples, for the page tests and the screenshots: every page in every state worth checking. The
// samples of sign-in, account and site pages are here, those of other areas in samples-*.ts.

import { type AccountPageData, accountPage } from '../account/account.ts'
import { deviceDonePage, devicePage } from '../account/device.ts'
import { acceptInvitationPage } from '../auth/accept-invitation.ts'
import { forgotPage } from '../auth/forgot.ts'
import { resetPage } from '../auth/reset.ts'
import { setupDonePage, setupPage } from '../auth/setup.ts'
import { ACCOUNT_EXISTS, signInPage } from '../auth/sign-in.ts'
import { signUpPage } from '../auth/sign-up.ts'
import { signedOutPage } from '../auth/signed-out.ts'
import type { PageUser } from '../components/user-menu.ts'
import { publishSnippets } from '../deployments/publish-snippets.ts'
import { continuePage } from '../frame/continue.ts'
import { errorPage } from '../frame/error.ts'
import { forbiddenPage } from '../site/forbidden.ts'
import { badHostPage, noSitePage, notFoundPage, unprovenDomainPage } from '../site/not-found.ts'
import { type Sample, sample } from './sample.ts'
import { panel } from './sample-data.ts'
import { certificateSamples } from './samples-certificates.ts'
import { dataSamples } from './samples-data.ts'
import { domainSamples } from './samples-domains.ts'
import { fileSamples } from './samples-files.ts'
import { operationsSamples } from './samples-operations.ts'
import { peopleSamples } from './samples-people.ts'
import { projectSamples } from './samples-project.ts'
import { rulesSamples } from './samples-rules.ts'
import { scheduleSamples } from './samples-schedules.ts'
import { workspaceSamples } from './samples-workspace.ts'

const admin: PageUser = { email: 'ada@example.com', role: 'admin' }
const guest: PageUser = { email: 'grace@example.com', role: 'member' }
const apiUrl = 'https://admin.sites.example.com'
const wrong = { message: 'Email or password is wrong.', code: 'WRONG_CREDENTIALS_ERROR' }
const tooShort = (path: string) => ({
  message: 'Check the marked fields.',
  details: [{ path, message: 'Use 8 to 256 characters.' }],
})

const account: AccountPageData = {
  user: admin,
  mailNotices: {
    mailConfigured: true,
    notices: [
      { id: 'newDevice', isOn: true },
      { id: 'backupFailed', isOn: false },
      { id: 'webhookFailing', isOn: true },
    ],
  },
  mfa: { totp: false, recoveryCodesLeft: 0 },
  connections: [
    { provider: 'github', email: 'ada@users.example.org', connectedAt: '2026-03-01T08:00:00.000Z' },
  ],
  providers: [
    { id: 'github', displayName: 'GitHub' },
    { id: 'company', displayName: 'Company login' },
  ],
  sessions: [
    {
      id: 's1',
      current: true,
      kind: 'browser',
      name: null,
      host: null,
      ip: '192.0.2.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      lastSeenAt: '2026-11-20T09:05:00.000Z',
    },
    {
      id: 's2',
      current: false,
      kind: 'browser',
      name: null,
      host: 'handbook.example.com',
      ip: '2001:db8::17',
      userAgent:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
      lastSeenAt: '2026-11-18T21:40:00.000Z',
    },
    {
      id: 's3',
      current: false,
      kind: 'cli',
      name: 'laptop',
      host: null,
      ip: '192.0.2.7',
      userAgent: 'svc/1.0.0',
      lastSeenAt: '2026-11-17T08:00:00.000Z',
    },
  ],
  sites: [
    {
      projectId: 'p1',
      owner: 'acme',
      name: 'website',
      displayName: 'Acme Website',
      url: 'https://production--website--acme.sites.example.com/',
      role: 'owner',
      isOwner: true,
      joinedAt: '2026-01-15T10:00:00.000Z',
    },
    {
      projectId: 'p2',
      owner: 'acme',
      name: 'handbook',
      displayName: 'Employee handbook',
      url: 'https://handbook.example.com/',
      role: 'guest',
      isOwner: false,
      joinedAt: '2026-06-02T10:00:00.000Z',
    },
  ],
}

const enrollment = {
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  otpauthUrl: 'otpauth://totp/svc:ada@example.com?secret=JBSWY3DPEHPK3PXP',
  qrSvg:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path fill="#fff" d="M0 0h9v9H0z"/><path d="M1 1h3v3H1zM5 1h3v3H5zM1 5h3v3H1zM6 6h1v1H6z"/></svg>',
}

const providers = account.providers
const redirect = 'https://handbook.example.com/start'
const invitation = {
  project: { owner: 'acme', name: 'website', displayName: 'Acme Website' },
  role: 'guest',
  email: guest.email,
  signInUrl: '/signin?redirect=%2Finvitations%2Fx',
}

const authSamples = [
  sample('setup', setupPage, { needsToken: true }),
  sample('setup-link', setupPage, {
    needsToken: true,
    token: 'tok-1',
    email: admin.email,
    error: tooShort('password'),
  }),
  sample('setup-refused', setupPage, {
    needsToken: true,
    token: 'tok-1',
    error: { message: 'The set-up token is wrong.', code: 'SETUP_TOKEN_REQUIRED' },
  }),
  ...(['off', 'auto', 'files'] as const).map((tls) =>
    sample(`setup-done-${tls}`, setupDonePage, {
      apiDocsUrl: '/api/docs',
      panel,
      snippets: publishSnippets(apiUrl),
      place: { baseDomain: 'sites.example.com', adminUrl: apiUrl, tls },
    }),
  ),
  sample('setup-done', setupDonePage, {
    apiDocsUrl: '/api/docs',
    panel,
    snippets: publishSnippets(apiUrl),
    place: { baseDomain: 'localhost', adminUrl: 'http://localhost:3000', tls: 'off' },
  }),
  sample('sign-in', signInPage, { step: 'password', providers, allowSignup: true, redirect }),
  sample('sign-in-refused', signInPage, {
    step: 'password',
    providers: [],
    allowSignup: false,
    email: admin.email,
    error: wrong,
    notice: ACCOUNT_EXISTS,
  }),
  sample('sign-in-mfa', signInPage, { step: 'mfa', mfaTicket: 'ticket-1', redirect, email: admin.email }),
  sample('sign-up', signUpPage, { allowSignup: true, redirect }),
  sample('sign-up-exists', signUpPage, {
    allowSignup: true,
    email: admin.email,
    error: {
      message: 'An account with this email already exists. Sign in instead.',
      code: 'EMAIL_ALREADY_EXISTS_ERROR',
    },
  }),
  sample('sign-up-closed', signUpPage, { allowSignup: false }),
  sample('forgot', forgotPage, { canMail: true }),
  sample('forgot-sent', forgotPage, { canMail: true, isSent: true, email: admin.email }),
  sample('forgot-no-mail', forgotPage, { canMail: false }),
  sample('reset', resetPage, { token: 'tok-2', purpose: 'reset', email: admin.email }),
  sample('reset-invite', resetPage, {
    token: 'tok-2',
    purpose: 'invite',
    email: guest.email,
    error: tooShort('password'),
  }),
  sample('reset-spent', resetPage, {
    token: 'tok-2',
    purpose: 'reset',
    error: { message: 'This link was used or has expired.', code: 'RESET_TOKEN_INVALID' },
  }),
  sample('invitation', acceptInvitationPage, invitation),
  sample('invitation-accept', acceptInvitationPage, { ...invitation, signedInAs: guest.email }),
  sample('invitation-other', acceptInvitationPage, { ...invitation, signedInAs: admin.email }),
  sample('device', devicePage, { email: admin.email, code: '' }),
  sample('device-decide', devicePage, {
    email: admin.email,
    code: 'BCDF-GHJK',
    asking: {
      clientName: 'laptop',
      ip: '192.0.2.7',
      createdAt: '2026-11-20T09:05:00.000Z',
      expiresAt: '2026-11-20T09:15:00.000Z',
    },
  }),
  sample('device-done', deviceDonePage, { isApproved: true }),
  sample('device-refused', deviceDonePage, { isApproved: false }),
  sample('signed-out', signedOutPage, { signInUrl: '/signin' }),
  sample('continue', continuePage, { url: redirect }),
  sample('continue-signed-out', continuePage, { url: '/', after: 'sign-out' as const }),
  sample('continue-joined', continuePage, { url: '/signin?redirect=x', after: 'invitation' as const }),
]

const siteSamples = [
  sample('forbidden', forbiddenPage, {
    email: guest.email,
    siteHost: 'handbook.example.com',
    accountUrl: `${apiUrl}/account`,
    signOutUrl: '/_svc/auth/signout',
  }),
  sample('not-found', notFoundPage, { isStart: false }),
  sample('bad-host', badHostPage, {}),
  sample('no-site', noSitePage, {
    host: 'nowhere.sites.example.com',
    signInUrl: `${apiUrl}/signin?redirect=x`,
  }),
  sample('unproven-domain', unprovenDomainPage, 'shop.example.net'),
  sample('error', errorPage, {
    status: 500,
    title: 'Something went wrong',
    message: 'The page could not be made.',
  }),
]

const accountSamples = [
  sample('account', accountPage, account),
  sample('account-enroll', accountPage, { ...account, mfa: { ...account.mfa, enrollment } }),
  sample('account-codes', accountPage, {
    ...account,
    user: guest,
    mfa: { totp: true, recoveryCodesLeft: 10, recoveryCodes: ['7hqf-29dk', 'pw4m-x8ct', '2nsv-k6rj'] },
    notices: [{ tone: 'good' as const, message: 'Two-step sign-in is on.' }],
    connections: [],
    sites: [],
  }),
  sample('account-failed', accountPage, {
    ...account,
    mfa: { totp: true, recoveryCodesLeft: 1 },
    failed: { intent: 'password' as const, error: tooShort('newPassword') },
  }),
  sample('account-leave-failed', accountPage, {
    ...account,
    failed: { intent: 'leave' as const, error: { message: 'Owners cannot leave their own site.' } },
  }),
]

export const samples: readonly Sample[] = [
  ...authSamples,
  ...siteSamples,
  ...accountSamples,
  ...projectSamples,
  ...domainSamples,
  ...rulesSamples,
  ...scheduleSamples,
  ...dataSamples,
  ...fileSamples,
  ...peopleSamples,
  ...workspaceSamples,
  ...operationsSamples,
  ...certificateSamples,
]
