import { badge } from '../components/badge.ts'
import type { Html } from '../components/html.ts'

const BADGES = {
  pending: badge('Waiting', 'info'),
  delivered: badge('Delivered', 'good'),
  failed: badge('Failed', 'bad'),
}

export const deliveryBadge = (status: keyof typeof BADGES): Html => BADGES[status]
