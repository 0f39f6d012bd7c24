export const TodayScreen = () => <h1>Today</h1>;
