import { serve } from '@hono/node-server'
import { honoHandler } from '@referrer/merchant/hono'
import { Hono } from 'hono'
import { endpoint, hostname, port } from './shop.js'

await endpoint.ready()
const app = new Hono()
app.on(['GET', 'POST'], '/buy', honoHandler(endpoint))
serve({ fetch: app.fetch, hostname, port }, () => console.log(`selling at http://${hostname}:${port}/buy`))
