import { PageTitle } from '../../../ui/parts.tsx'

export const ProofsPage = () => <PageTitle title="Proofs" />
