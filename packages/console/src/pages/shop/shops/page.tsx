import { PageTitle } from '../../../ui/parts.tsx'

export const ShopsPage = () => <PageTitle title="My shops" />
