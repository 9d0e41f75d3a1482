import { Hono } from 'hono'

// Ponder will not start without an API; nothing is asked of it here.
export default new Hono()
