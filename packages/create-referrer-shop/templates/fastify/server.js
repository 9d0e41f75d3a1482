import { fastifyReferral } from '@referrer/merchant/fastify'
import fastify from 'fastify'
import { endpoint, hostname, port } from './shop.js'

await endpoint.ready()
const app = fastify()
app.register(fastifyReferral, { url: '/buy', endpoint })
await app.listen({ port, host: hostname })
console.log(`selling at http://${hostname}:${port}/buy`)
