import { PageTitle } from '../../../ui/parts.tsx'

export const EscrowPage = () => <PageTitle title="A purchase" />
