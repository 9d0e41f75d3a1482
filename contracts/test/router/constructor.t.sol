// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

contract RouterConstructorTest is RouterTest {
    function test_succeeds_whenSharesAreAtTheirBounds() public {
        SplitRouter other = deployRouter(6_000, 10_000);
        assertEq(other.FEE_BPS(), 6_000);
        assertEq(other.HELD_BACK_BPS(), 10_000);
        assertEq(address(other.TOKEN()), address(usdc));
        assertEq(address(other.ESCROW()), address(escrow));
        assertEq(address(other.IDENTITIES()), address(identities));
        assertEq(address(other.MERCHANTS()), address(merchants));
        assertEq(address(other.REVIEWS()), address(reviews));
        assertEq(other.defaultAdmin(), admin);
        assertEq(other.defaultAdminDelay(), ADMIN_DELAY);
    }

    /// @dev Fee and the highest cashback together must leave the reviewer nothing less than nothing.
    function test_reverts_whenTheFeeIsTooHigh() public {
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidShares.selector, 6_001, 5_000));
        this.tryDeploy(6_001, 5_000);
    }

    function test_reverts_whenTheHeldBackPartIsTooHigh() public {
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidShares.selector, 1_000, 10_001));
        this.tryDeploy(1_000, 10_001);
    }

    function tryDeploy(uint256 feeBps, uint256 heldBackBps) external {
        deployRouter(feeBps, heldBackBps);
    }
}
