export { type Deployment, readDeployment } from './chain/index.ts'
