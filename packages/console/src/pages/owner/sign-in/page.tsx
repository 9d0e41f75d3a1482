import { PageTitle } from '../../../ui/parts.tsx'

export const SignInPage = () => <PageTitle title="Sign in" />
