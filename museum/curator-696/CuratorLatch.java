// An elected leader by Curator's LeaderLatch, an autonomous client: it leads for as long as the latch says so.
import java.util.UUID;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.RetryForever;

class CuratorLatch {
    public static void main(String[] words) throws Exception {
        var session = Integer.parseInt(System.getenv("PICKLOCK_TTL_MS"));
        var client = CuratorFrameworkFactory.newClient(System.getenv("PICKLOCK_STORES"), session, session, new RetryForever(100));
        client.start();
        var latch = new LeaderLatch(client, "/leader", UUID.randomUUID().toString());
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                System.out.println("holds leader");
            }

            @Override
            public void notLeader() {
                System.out.println("frees leader");
                System.out.println("wants leader");
            }
        });
        System.out.println("wants leader");
        latch.start();
        Thread.currentThread().join();
    }
}
