import { expressHandler } from '@referrer/merchant/express'
import express from 'express'
import { endpoint, hostname, port } from './shop.js'

await endpoint.ready()
const app = express()
app.all('/buy', expressHandler(endpoint))
app.listen(port, hostname, () => console.log(`selling at http://${hostname}:${port}/buy`))
