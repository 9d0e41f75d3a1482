import { type Api, read } from '../../../api/api.ts'

export const escrowQueries = (api: Api, id: number) => ({
  escrow: read(api, '/v1/escrow/{id}', { params: { path: { id } } }),
  decisions: read(api, '/v1/escrow/{id}/decisions', { params: { path: { id } } }),
})
