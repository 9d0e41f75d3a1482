import { nextHandlers } from '@referrer/merchant/next'
import { endpoint } from '../../shop.js'

export const { GET, POST } = nextHandlers(endpoint)
