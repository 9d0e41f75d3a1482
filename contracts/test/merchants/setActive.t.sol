// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract SetActiveTest is MarketTest {
    /// [CHAIN-31]
    function test_succeeds_whenTheOwnerClosesAndOpens() public {
        expectActiveSet(merchant.addr, false, merchant.addr);
        setActive(merchant.addr, false);
        assertFalse(merchants.isActive(merchantId));
        expectActiveSet(merchant.addr, true, merchant.addr);
        setActive(merchant.addr, true);
        assertTrue(merchants.isActive(merchantId));
    }

    /// [CHAIN-31]
    function test_succeeds_whenTheOwnersWalletsStay() public {
        vm.prank(merchant.addr);
        merchants.setPayoutWallet(merchantId, stranger);
        setActive(merchant.addr, false);
        setActive(merchant.addr, true);
        assertEq(merchants.payoutWallet(merchantId), stranger);
    }

    /// [CHAIN-31]
    function test_reverts_whenAStrangerCalls() public {
        expectNotOwner(stranger);
        setActive(stranger, false);
        expectNotOwner(guardian);
        setActive(guardian, false);
        expectNotOwner(admin);
        setActive(admin, false);
    }

    function test_reverts_whenThereIsNoSuchMerchant() public {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, stranger, 404));
        vm.prank(stranger);
        merchants.setActive(404, true);
    }

    /// [CHAIN-32]
    function test_succeeds_whenActiveTakesTheFlagAndNoSuspension() public {
        for (uint256 combination = 0; combination < 4; ++combination) {
            bool flag = combination & 1 != 0;
            bool suspended = combination & 2 != 0;
            setActive(merchant.addr, flag);
            vm.prank(guardian);
            merchants.setSuspended(merchantId, suspended);
            assertEq(merchants.isActive(merchantId), flag && !suspended);
        }
    }

    /// [CHAIN-32]
    function test_succeeds_whenAnIdentityWasNeverOpened() public {
        assertFalse(merchants.isActive(reviewerAgentId));
        assertFalse(merchants.isActive(404));
        assertEq(merchants.payoutWallet(reviewerAgentId), address(0));
        assertEq(merchants.payoutWallet(404), address(0));
    }

    // ---- a change of hands

    /// [CHAIN-32]
    function test_succeeds_whenATransferClosesTheMerchant() public {
        transferIdentity(merchant.addr, stranger, merchantId);
        assertFalse(merchants.isActive(merchantId));
        assertEq(merchants.payoutWallet(merchantId), address(0));
        expectNotOwner(merchant.addr);
        setActive(merchant.addr, true);
    }

    function test_succeeds_whenTheNewOwnerOpensAndIsPaid() public {
        vm.prank(merchant.addr);
        merchants.setPayoutWallet(merchantId, makeAddr("till"));
        transferIdentity(merchant.addr, stranger, merchantId);
        expectActiveSet(stranger, true, stranger);
        setActive(stranger, true);
        assertTrue(merchants.isActive(merchantId));
        assertEq(merchants.payoutWallet(merchantId), stranger);
        buy();
        assertBalance(stranger, MERCHANT_NET, "new owner");
        assertBalance(makeAddr("till"), 0, "former till");
    }

    /// @dev Choosing a payout wallet is not opening.
    function test_succeeds_whenTheNewOwnerOnlyChoosesAWallet() public {
        transferIdentity(merchant.addr, stranger, merchantId);
        vm.prank(stranger);
        merchants.setPayoutWallet(merchantId, makeAddr("till"));
        assertFalse(merchants.isActive(merchantId));
        assertEq(merchants.payoutWallet(merchantId), makeAddr("till"));
        setActive(stranger, true);
        assertEq(merchants.payoutWallet(merchantId), makeAddr("till"));
    }

    /// @dev Whatever a new owner does first, the former owner's settings are over, even if the identity comes back.
    function test_succeeds_whenTheIdentityComesBackFromAnOwnerWhoActed() public {
        transferIdentity(merchant.addr, stranger, merchantId);
        expectActiveSet(stranger, false, stranger);
        vm.prank(stranger);
        merchants.setProductTerms(merchantId, PRODUCT, 10_000, 0);
        transferIdentity(stranger, merchant.addr, merchantId);
        assertFalse(merchants.isActive(merchantId));
        setActive(merchant.addr, true);
        assertTrue(merchants.isActive(merchantId));
    }

    function test_succeeds_whenTheIdentityComesBackUntouched() public {
        transferIdentity(merchant.addr, stranger, merchantId);
        transferIdentity(stranger, merchant.addr, merchantId);
        assertTrue(merchants.isActive(merchantId));
    }

    // ---- helpers

    function setActive(address caller, bool active) private {
        vm.prank(caller);
        merchants.setActive(merchantId, active);
    }

    function expectActiveSet(address owner, bool active, address payout) private {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.MerchantActiveSet(merchantId, owner, active, payout);
    }

    function expectNotOwner(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, caller, merchantId));
    }
}
