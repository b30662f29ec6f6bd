export { isHostMapped, listProvenHosts } from './queries.ts'
