import admin from './admin.md' with { type: 'file' }
import architecture from './architecture.md' with { type: 'file' }
import ci from './ci.md' with { type: 'file' }
import deployment from './images/deployment.png' with { type: 'file' }
import floors from './images/floors.svg' with { type: 'file' }
import overviewPicture from './images/overview.png' with { type: 'file' }
import overview from './images/overview.svg' with { type: 'file' }
import signIn from './images/sign-in.png' with { type: 'file' }
import trace from './images/trace.png' with { type: 'file' }
import members from './members.md' with { type: 'file' }
import operating from './operating.md' with { type: 'file' }
import publishing from './publishing.md' with { type: 'file' }
import releasing from './releasing.md' with { type: 'file' }
import rules from './rules.md' with { type: 'file' }
import scaling from './scaling.md' with { type: 'file' }
import sites from './sites.md' with { type: 'file' }
import start from './start.md' with { type: 'file' }
import aws from './store/aws.md' with { type: 'file' }
import ceph from './store/ceph.md' with { type: 'file' }
import runbook from './store/runbook.md' with { type: 'file' }
import unit from './svc.service' with { type: 'file' }
import webhooks from './webhooks.md' with { type: 'file' }

/** The documents in the executable, in the order in which they are listed, and where each lies. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  start,
  admin,
  publishing,
  sites,
  rules,
  members,
  ci,
  webhooks,
  operating,
  scaling,
  'store/ceph': ceph,
  'store/aws': aws,
  'store/runbook': runbook,
  architecture,
  releasing,
}

/** What documents show or refer to, by its path in this folder. */
export const FILES: Readonly<Record<string, string>> = {
  'images/deployment.png': deployment,
  'images/floors.svg': floors,
  'images/overview.png': overviewPicture,
  'images/overview.svg': overview,
  'images/sign-in.png': signIn,
  'images/trace.png': trace,
  'svc.service': unit,
}
