/** The traffic split of a domain as it is stored, for one that is deleted and may come back. */
export { findTraffic as findTrafficOf, type TrafficRow, upsertTraffic } from './queries.ts'
