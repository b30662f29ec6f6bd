import { deploymentName, type Named } from '../../src/domain/deployment-name.ts'
import type { RoutingView } from '../../src/modules/deployments/routing/view.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import type { ReportView } from '../../src/modules/reports/model.ts'
import { badge } from '../components/badge.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { shortSha } from '../components/sha.ts'
import { formatSize } from '../components/size.ts'
import { table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { comparisonList, comparisonSummary } from './comparison.ts'
import { deploymentHref, deploymentLink } from './deployment-table.ts'
import { routingInForce } from './routing-in-force.ts'

type ReportPageProps = ProjectPageBase & {
  deployment: DeploymentView
  /** Null for a deployment that was published before there were reports. */
  report: ReportView | null
  /** What the report compares with, while it exists. */
  former?: Named | undefined
  inForce: RoutingView
}

/** What a publish did to the site, and what is wrong in it. */
export const reportPage = (props: ReportPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: 'Deploy report',
      crumbs: [
        { label: 'Deployments', href: projectHref(props.project.id, '/deployments') },
        {
          label: deploymentName(props.deployment),
          href: deploymentHref(props.project.id, props.deployment.number),
        },
      ],
    },
    props.report === null
      ? emptyState({
          icon: 'info',
          title: 'No report',
          text: 'This deployment was published before there were reports. Publish it again to get one.',
        })
      : html`${progress(props, props.report)} ${findings(props.report)} ${changes(props, props.report)} ${routing(props, props.report)}`,
  )

/** How far a report is, in a few words; its severest findings first. */
export function reportWords({ status, findings, kinds }: ReportView): string {
  if (status === 'running') return 'being made'
  if (status === 'failed') return 'could not be made'
  const parts = SEVERITIES.map(({ severity, one, many }) => {
    const count = sum(kindsOf(findings, severity).map((kind) => kinds[kind] ?? 0))
    return count === 0 ? null : `${formatCount(count)} ${count === 1 ? one : many}`
  }).filter((part) => part !== null)
  return parts.join(', ') || 'nothing found'
}

/** Lines of the routing files that were left out, each with its reason. */
export const refusedLines = ({ refused, problems }: ReportView['routing']): Html => html`
  <ul aria-label="Refused lines">${problems.map(
    ({ file, line, message }) => html`<li><code>${`${file}:${line}`}</code> ${message}</li>`,
  )}</ul>
  ${refused > problems.length && html`<p class="muted">And ${formatCount(refused - problems.length)} more.</p>`}
`

function progress({ project, deployment }: ReportPageProps, { status, truncated }: ReportView): Html | false {
  if (status === 'running')
    return notice({
      tone: 'info',
      live: true,
      message: html`The pages are still being read. <a href=${deploymentHref(project.id, deployment.number, '/report')}>Look again</a>
        <span data-report=${deployment.id}></span>`,
    })
  if (status === 'failed')
    return notice({
      tone: 'bad',
      message: 'The report could not be made. The site is published all the same; publish again to get one.',
    })
  return (
    truncated &&
    notice({
      tone: 'warn',
      message:
        'The site is too large to be read whole: what is found here is of the first 20,000 pages or 512 MiB.',
    })
  )
}

const SEVERITIES = [
  { severity: 'error', one: 'error', many: 'errors', title: 'Errors', tone: 'bad' },
  { severity: 'warning', one: 'warning', many: 'warnings', title: 'Warnings', tone: 'warn' },
  { severity: 'info', one: 'hint', many: 'hints', title: 'Good to know', tone: 'info' },
] as const

function findings(report: ReportView): Html | readonly (Html | false)[] | null {
  if (report.findings.length > 0) return SEVERITIES.map((group) => ofSeverity(report, group))
  if (report.status !== 'complete') return null
  return emptyState({
    icon: 'check',
    title: 'Nothing found',
    text: 'Every link and asset of the pages leads somewhere, no line of _redirects and _headers is refused, and no secret is among the files. Each publish is read anew.',
  })
}

function ofSeverity(
  report: ReportView,
  { severity, title, tone }: (typeof SEVERITIES)[number],
): Html | false {
  const rows = report.findings.filter((finding) => finding.severity === severity)
  const left = sum(kindsOf(rows, severity).map((kind) => report.kinds[kind] ?? 0)) - rows.length
  return (
    rows.length > 0 &&
    card(
      { id: `findings-${severity}`, title },
      html`
        ${table({
          caption: title,
          columns: [
            {
              label: 'Where',
              cell: ({ file, line, target }) =>
                html`<code>${placeOf(file, line) ?? target ?? 'the site'}</code>`,
            },
            { label: 'Kind', cell: ({ kind }) => badge(kind, tone) },
            {
              label: 'What is wrong',
              cell: ({ message, target }) =>
                html`${message}${target !== null && !message.includes(target) && html` <code>${target}</code>`}`,
            },
          ],
          rows,
          isDense: true,
        })}
        ${left > 0 && html`<p class="muted">And ${formatCount(left)} more.</p>`}
      `,
    )
  )
}

const placeOf = (file: string | null, line: number | null): string | null =>
  file === null || line === null ? file : `${file}:${line}`

const kindsOf = (findings: ReportView['findings'], severity: string): string[] => [
  ...new Set(findings.filter((one) => one.severity === severity).map(({ kind }) => kind)),
]

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

const changes = (
  { project, deployment, former }: ReportPageProps,
  { files, paths, comparedWith, bytes, ...made }: ReportView,
): Html =>
  card(
    {
      id: 'changes',
      title: comparisonSummary(files),
      about:
        comparedWith === null
          ? 'There was nothing to compare with.'
          : html`Compared with what was live as ${comparedWith.alias}:
              ${formerName(project.id, former, comparedWith.commitSha)}. ${countOf(files.unchanged, 'file')} ${files.unchanged === 1 ? 'is' : 'are'} the same.`,
    },
    html`
      ${comparisonList(
        { counts: files, paths },
        former === undefined
          ? null
          : { projectId: project.id, from: String(former.number), to: String(deployment.number) },
      )}
      ${details([
        ['Size', sizeOf(bytes.identity)],
        ['As Brotli', sizeOf(bytes.br)],
        ['As Zstandard', sizeOf(bytes.zstd)],
        ['As gzip', sizeOf(bytes.gzip)],
        ['Begun', time(made.createdAt)],
        ['Complete', made.completedAt !== null && time(made.completedAt)],
      ])}
    `,
  )

/** The deployment may be gone. */
const formerName = (projectId: string, former: Named | undefined, sha: string): Html =>
  former === undefined ? shortSha(sha) : deploymentLink(projectId, former)

const sizeOf = (bytes: number | null): string | null => (bytes === null ? null : formatSize(bytes))

const countOf = (count: number, one: string): string =>
  `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`

const routing = ({ deployment, inForce }: ReportPageProps, { routing }: ReportView): Html =>
  card(
    {
      id: 'routing',
      title: 'Routing files',
      about: `${countOf(routing.redirects, 'redirect')}, ${countOf(routing.headers, 'block')} of headers; refused: ${formatCount(routing.refused)}.`,
    },
    html`
      ${routing.problems.length > 0 && refusedLines(routing)}
      ${routingInForce(deployment.id, inForce)}
    `,
  )

/** For the page of the deployment, and thus the end of a publish. */
export const reportCard = (projectId: string, number: number, report: ReportView): Html =>
  card(
    { id: 'report', title: `Deploy report: ${reportWords(report)}` },
    html`
      ${report.routing.problems.length > 0 && html`<p>Left out of the routing files:</p>${refusedLines(report.routing)}`}
      ${linkButton({ label: 'Read the report', href: deploymentHref(projectId, number, '/report'), kind: 'secondary' })}
    `,
  )
