import { PageTitle } from '../../../ui/parts.tsx'

export const FlagsPage = () => <PageTitle title="Flagged agents" />
