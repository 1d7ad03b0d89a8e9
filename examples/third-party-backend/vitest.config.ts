import { project } from '../../vitest.shared.ts';

export default project('third-party-backend', import.meta.url);
